"""What a team shares through git: small files that never change, so that branches merge in any order."""
