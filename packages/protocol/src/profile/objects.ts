import { Type } from 'typebox'
import { LOOP_PHASES } from '../vocabulary.ts'
import { MEDIA_TYPE } from '../wire.ts'
import { fixed, openPoint, text, texts } from './open-point.ts'

/** Open points about the objects themselves and the words inside them. */
export const objectPoints = {
  'O-01': openPoint({
    meaning: 'Which combinations of a loop thread phase and its allowed next phases contradict each other.',
    why: 'One contradiction is shown (closed that allows responded) and is always refused; a rule made up around it would refuse threads that others call valid.',
    settings: {
      contradictions: Type.Array(
        Type.Object(
          { phase: Type.Enum([...LOOP_PHASES]), next: Type.String({ minLength: 1 }) },
          { additionalProperties: false },
        ),
        { default: [], description: 'further pairs of phase and next phase that validation refuses' },
      ),
    },
  }),
  'O-02': openPoint({
    meaning: 'Which moves a loop thread phase and a network story status may make.',
    why: 'Both live inside sealed packages; the exchange never sees them, and no order is given that an agent could be held to.',
    settings: { transitions: fixed('unchecked', 'no move between phases or statuses is refused') },
  }),
  'O-34': openPoint({
    meaning:
      'Values beyond those in use: outcomes, statuses, dispositions, actions, members of response items.',
    why: 'Lists that are not closed stay open on input. Only the values shown are given weight: anything else is kept and does not count as a pass.',
    settings: {
      passing_outcomes: texts(['passed'], 'check outcomes that count as passed', 1),
      approving_outcomes: texts(['approved'], 'approval outcomes that count as approved', 1),
      native_revocation_outcome: text(
        'access_blocked',
        'outcome of a revocation where the exchange holds the content',
      ),
      ds_x_revocation_outcome: text(
        'revocation_recorded',
        'outcome where a connector holds the content, which the exchange cannot block',
      ),
    },
  }),
  'O-35': openPoint({
    meaning: 'The content type of a response package and the object inside it.',
    why: 'Responses share the body shape of packages, and one content type is shown; a type named after the response object is accepted too, since a sender may reasonably choose it.',
    settings: {
      content_types: texts(
        [MEDIA_TYPE.reasoningPackage, 'application/svc.response-object+json'],
        'content_type and cty accepted for a response; our SDK writes the first. Any other package has the type shown',
        1,
      ),
      inner_object: fixed('response_object', 'what our SDK seals into a response'),
      inner_members: fixed(
        'thread, author, sender, recipients, policy',
        'what our SDK compares between the object inside and the metadata when it opens; id and created_at may differ',
      ),
    },
  }),
  'O-41': openPoint({
    meaning: 'Which bytes a policy digest covers. Found by us.',
    why: 'A digest without a rule cannot be compared by the receiving side; the canonical form is the one that every signature here uses.',
    settings: { policy_digest: fixed('rfc8785', 'SHA-256 over RFC 8785 of the policy_envelope object') },
  }),
}
