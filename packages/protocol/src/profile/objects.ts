import { Type } from 'typebox'
import { LOOP_PHASES } from '../vocabulary.ts'
import { MEDIA_TYPE } from '../wire.ts'
import { fixed, oneOf, openPoint, text, texts } from './open-point.ts'

/** Open points about the protocol objects and their vocabularies. */
export const objectPoints = {
  'O-01': openPoint({
    meaning: 'Which combinations of a loop thread phase and its allowed next phases contradict each other.',
    why: 'The specification shows one contradiction (closed that allows responded), which is always refused. A more general rule could refuse threads that other implementations consider valid.',
    settings: {
      contradictions: Type.Array(
        Type.Object(
          { phase: Type.Enum([...LOOP_PHASES]), next: Type.String({ minLength: 1 }) },
          { additionalProperties: false },
        ),
        { default: [], description: 'additional pairs of phase and next phase that validation refuses' },
      ),
    },
  }),
  'O-02': openPoint({
    meaning: 'Which transitions of a loop thread phase and of a network story status are allowed.',
    why: 'Both are inside sealed packages, which the exchange never sees, and the specification gives no order that an agent would have to follow.',
    settings: { transitions: fixed('unchecked', 'no transition between phases or statuses is refused') },
  }),
  'O-34': openPoint({
    meaning:
      'Values other than those shown: outcomes, statuses, dispositions, actions, members of response items; and what each of the five policy checks examines.',
    why: 'Vocabularies that the specification does not close are not closed on input. Only the values shown have an effect: any other value is stored and does not count as a pass. The specification names the five checks and leaves their content to the agent; the exchange cannot repeat them. The last five settings say what our SDK examines before it signs "passed".',
    settings: {
      passing_outcomes: texts(['passed'], 'check outcomes that count as passed', 1),
      approving_outcomes: texts(['approved'], 'approval outcomes that count as approved', 1),
      native_revocation_outcome: text(
        'access_blocked',
        'outcome of a revocation if the exchange holds the content',
      ),
      ds_x_revocation_outcome: text(
        'revocation_recorded',
        'outcome if a connector holds the content, because the exchange cannot block access there',
      ),
      object_schema: fixed(
        'sdk',
        'object and policy are valid, and a package or response names the policy_id and purpose of the policy',
      ),
      skill_profile: fixed(
        'sdk',
        'the recipient lists the protocol version and the skill, in the version that is used or in one that the release still supports; the release covers the protocol version',
      ),
      prohibited_disclosure: fixed(
        'sdk',
        'no member that granularity.prohibited_fields names, a disclosure_level within granularity.level, no fact above the permitted sensitivity; free text is not examined',
      ),
      recipient_authorization: fixed(
        'sdk',
        'the policy allows the organization, the directory shows the agent in it, a package is addressed to it, and the policy allows the response that a package requires',
      ),
      retention_and_forwarding: fixed(
        'sdk',
        'retention_days, expires_at and forwarding_allowed stay within the policy',
      ),
    },
  }),
  'O-35': openPoint({
    meaning:
      'The content type of a response package, the object inside it, and how an opener compares a sealed object with its package.',
    why: 'Responses have the same body as packages, and the specification shows one content type. A type named after the response object is also accepted, because a sender may reasonably choose it. An opener compares authors so that nobody can sign content of another organization again as its own. Each agent decides for itself what it compares. Who wrote an object and who sent it is always shown.',
    settings: {
      content_types: texts(
        [MEDIA_TYPE.reasoningPackage, 'application/svc.response-object+json'],
        'content_type and cty accepted for a response; our SDK writes the first. Other packages must have the type shown in the specification',
        1,
      ),
      inner_object: fixed('response_object', 'what our SDK seals into a response'),
      inner_members: fixed(
        'thread, recipients, policy',
        'members of the sealed object that our SDK always compares with the metadata when it opens a package; id and created_at may differ',
      ),
      author: oneOf(
        ['packages', 'every_object', 'anyone'],
        'packages',
        'objects whose created_by must name the organization that sends: packages and responses, or every object but an audit event; anyone: none',
      ),
      sender: oneOf(
        ['organization', 'agent', 'anyone'],
        'organization',
        'what the sender inside a package must equal: the organization that sends (an agent may have been replaced), also its agent, or nothing',
      ),
    },
  }),
  'O-41': openPoint({
    meaning: 'Which bytes a policy digest covers. Not in the specification’s list of open points.',
    why: 'Without a rule the receiving side cannot compare the digest. All signatures of the protocol use the same canonical form.',
    settings: { policy_digest: fixed('rfc8785', 'SHA-256 over RFC 8785 of the policy_envelope object') },
  }),
}
