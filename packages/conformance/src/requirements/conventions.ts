import { andOfAgent, inService, type Requirement } from './requirement.ts'

export const CONVENTION_REQUIREMENTS: readonly Requirement[] = [
  inService('API-01', 'Each of the 21 operations succeeds with its status and body, and no others exist.'),
  inService('API-02', 'The OpenAPI document lists exactly the 21 operations at their paths.'),
  andOfAgent(inService('API-03', 'A call without its required headers is refused and has no effect.')),
  inService(
    'API-04',
    'An exact retry of a mutation, later or at the same time, gets the first answer.',
    'crashes and replicas: without a hook that restarts the service, nobody outside can cause them',
  ),
  andOfAgent(inService('API-05', 'An idempotency key with other content gets 409 idempotency_key_reuse.')),
  inService('API-06', 'Pages follow opaque cursors, and an invented cursor is refused.'),
  inService('API-07', 'Successes are application/json, failures application/problem+json.'),
  andOfAgent(inService('API-08', 'Without a valid access token no operation answers.')),
  inService('AUTH-01', 'Access tokens are short-lived, and an altered one is refused.'),
  inService(
    'AUTH-02',
    'A client proves its identity by a signed assertion or a certificate.',
    'the binding of a token to a certificate is judged only for clients that authenticate by certificate',
  ),
  inService('AUTH-03', 'A mutation that names another organization is refused.'),
  andOfAgent(inService('AUTH-04', 'No request needs a private key, and no answer asks for one.')),
  inService('ERR-01', 'A failure is a problem document with its seven members.'),
  inService('ERR-02', 'A problem repeats neither ciphertext nor token nor key.'),
  inService(
    'ERR-03',
    'Categories of failures differ by code.',
    'rate limits and transport failures are not provoked on a server of somebody else',
  ),
]
