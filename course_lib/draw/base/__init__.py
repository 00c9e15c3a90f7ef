"""What every picture is made of: colours, SVG, frames, signs, and text beside text."""
