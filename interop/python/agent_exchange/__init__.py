"""An agent and a verifier of Agent Exchange that share no code with the packages of this repository."""
