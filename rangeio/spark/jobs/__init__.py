"""Jobs over thousands of files, each file by itself: any of them may fail, or run twice."""
