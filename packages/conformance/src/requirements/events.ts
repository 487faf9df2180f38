import { inService, type Requirement } from './requirement.ts'

export const EVENT_REQUIREMENTS: readonly Requirement[] = [
  inService(
    'EVT-01',
    'The event of an accepted package is in the stream of its recipient.',
    'that both share a transaction shows only in a crash between them',
  ),
  inService('EVT-02', 'A notification has its thirteen members and no others.'),
  inService('EVT-03', 'Ids of event, delivery and notification stay stable across attempts and views.'),
  inService('EVT-04', 'Sequences of a stream rise by one while writers run.'),
  inService('EVT-05', 'A webhook carries the RFC 9421 signature of the profile over its exact bytes.'),
  inService('EVT-06', 'An endpoint without TLS is refused.'),
  inService(
    'EVT-07',
    'A failed delivery is repeated no sooner than its delay.',
    'attempts four to seven need a hook that moves the clock',
  ),
  inService('EVT-08', 'The answer of a receiver decides on repetition, end or deactivation.'),
  inService('EVT-09', 'A failing receiver changes nothing about the package.'),
  inService(
    'EVT-10',
    'Polling starts at the earliest notification, ascends, and always returns a cursor.',
    'a cursor older than the retention period needs days of waiting',
  ),
  inService('EVT-11', 'An acknowledgement is idempotent by its key.'),
  inService('EVT-12', 'A replay is a new delivery of the same event and body.'),
  inService('EVT-13', 'A rotated webhook key is published, and retiring ones stay listed.'),
  {
    id: 'EVT-14',
    sentence: 'A receiver verifies, stores, answers 204, handles in order and closes gaps by polling.',
    judgedOf: ['agent'],
  },
  inService('EVT-15', 'An endpoint is active at once, with a signing key from the directory.'),
  inService('AUD-01', 'Evidence is for the parties, free of content, and made of audit events.'),
  inService('AUD-02', 'The audit events that answers name are in evidence.'),
  {
    id: 'AUD-03',
    sentence:
      'A record that was changed or left out is noticed by whoever verifies a capsule or reads the log.',
    judgedOf: ['capsules', 'log'],
    unseen: 'that the stored rows resist a change is for the operator to show',
  },
]
