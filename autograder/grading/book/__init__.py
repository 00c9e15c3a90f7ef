"""The grade book: who is in the class, when things are due, and what becomes of the reports."""
