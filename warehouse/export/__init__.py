"""What leaves the warehouse for people: CSV for programs, CSV and a spreadsheet for the assembly, a page, texts."""
