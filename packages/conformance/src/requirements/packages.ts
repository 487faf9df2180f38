import { andOfAgent, inService, type Requirement } from './requirement.ts'

export const PACKAGE_REQUIREMENTS: readonly Requirement[] = [
  andOfAgent(inService('PKG-01', 'A native package is a signed Flattened JWS of exactly the given form.')),
  andOfAgent(
    inService('PKG-02', 'Its content is a General JWE of exactly the given form for two recipients.'),
  ),
  inService('PKG-03', 'A ds_x package is a signed manifest that names an approved connector.'),
  inService('PKG-04', 'An accepted package can be read at once, and downloaded if it is native.'),
  inService('PKG-05', 'A pair without approved connectors is native, one with them is ds_x.'),
  inService('PKG-06', 'A recipient without the protocol version causes the 409 that lists its versions.'),
  inService('PKG-07', 'Packages, threads and downloads are for their parties.'),
  andOfAgent(
    inService('PKG-08', 'The organization of the recipient states four receipt states by signature.'),
  ),
  inService('PKG-09', 'A response is a package of its own, in the thread of the package it answers.'),
  inService('PKG-10', 'The sender revokes by signature, and the content is then out of reach.'),
  inService('PKG-11', 'A package never returns to an earlier state.'),
  inService('PKG-12', 'A package that is expired, or expires before its creation, is refused.'),
  inService('PKG-13', 'A thread shows its packages in order, its participants and one mode.'),
  inService(
    'PKG-14',
    'No answer shows plaintext or a private key.',
    'what is stored and logged can be seen by the operator only',
  ),
  inService('PKG-15', 'A recipient that cannot receive a package is a category of its own.'),
]
