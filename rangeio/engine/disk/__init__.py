"""The disk cache: ranges of object versions in files, shared by the processes of one machine."""
