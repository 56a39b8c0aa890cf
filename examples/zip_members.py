"""List a zip archive without downloading it: zip_members.py URL"""

import sys
import zipfile

import rangeio

with rangeio.open_raw(sys.argv[1]) as raw, zipfile.ZipFile(raw) as archive:
    for member in archive.infolist():
        print(member.filename, member.file_size)
