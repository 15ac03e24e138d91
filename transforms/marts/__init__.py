"""The stable contract with readers: requirement by requirement, then the ranking."""
