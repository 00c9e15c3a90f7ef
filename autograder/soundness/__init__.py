"""Do the checks of an exercise tell right from wrong? Students never have this room."""
