"""From what was handed in to reports, feedback and grades. It never ships."""
