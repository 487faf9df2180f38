import { andOfAgent, inService, type Requirement } from './requirement.ts'

export const IDENTITY_REQUIREMENTS: readonly Requirement[] = [
  andOfAgent(inService('ID-01', 'An agent registers in the organization of its caller only.')),
  inService('ID-02', 'A registered agent reads back as registered, with known transport modes only.'),
  inService('ID-03', 'A key that replaces another one differs from it in id and material.'),
  inService('ID-04', 'A revoked key shows when it was revoked and from when it is invalid.'),
  andOfAgent(
    inService(
      'ID-05',
      'Only a signing key of the named agent that is valid at the claimed time and on arrival counts.',
      'whether the key is read under lock shows only in races that cannot be steered from outside',
    ),
  ),
  inService('ID-06', 'Private members and points off the curve are refused in public keys.'),
  inService('ID-07', 'The key directory of an agent keeps its revoked keys.'),
  inService('ID-08', 'The directory of webhook keys lists a usable key, and revoked ones with their times.'),
  inService('ID-09', 'Skill releases are listed for a protocol version and readable one by one.'),
  inService(
    'ID-10',
    'The artifact of a skill release has the digest that its signed release names.',
    'what the manifest signature covers is an open point (O-06)',
  ),
  andOfAgent(
    inService('POL-01', 'A policy receipt is verified only with the signature of its sending agent.'),
  ),
  inService('POL-02', 'A policy receipt holds each of the five checks exactly once.'),
  andOfAgent(inService('POL-03', 'A receipt with a failed check or a missing approval authorizes nothing.')),
  andOfAgent(inService('POL-04', 'A package needs a receipt that fits it and is not later than it.')),
  inService('POL-05', 'Only the sender, and the recipient of a package that names it, read a receipt.'),
]
