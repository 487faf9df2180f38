import { canonicalize, contentDigests, parseEnvelope, sha256Digest } from '@agent-exchange/crypto'
import { utf8 } from '../profiles/profile.ts'
import { HEADER, signText } from './envelope-text.ts'
import type { Story } from './story.ts'
import { type Generated, invalid, valid } from './vectors.ts'

export async function contentDigest({ metadata, jwe }: Story): Promise<Generated> {
  // Not canonical, so that the three rules give different digests.
  const body = await signText(canonicalize(HEADER), JSON.stringify({ metadata, jwe }, undefined, 1))
  const digests = await contentDigests(parseEnvelope(body))
  const claim = (content_digest: string, rest: object = {}) => ({ body, content_digest, ...rest })
  const broken = { rule: 'O-17', code: 'digest_mismatch' }
  return {
    profile: 'content-digest',
    description:
      'Which bytes of one envelope content_digest covers: three readings, of which a deployment allows some.',
    references: ['O-17', 'RFC 9530', 'RFC 8785'],
    vectors: [
      valid('jcs-jwe', 'The RFC 8785 form of `jwe`; write this one.', claim(digests['jcs-jwe']), {
        rule: 'jcs-jwe',
      }),
      valid('jwe-text', 'The text of `jwe` as it stands in the payload.', claim(digests['jwe-text']), {
        rule: 'jwe-text',
      }),
      valid('ciphertext-bytes', 'The decoded ciphertext.', claim(digests['ciphertext-bytes']), {
        rule: 'ciphertext-bytes',
      }),
      invalid(
        'other-content',
        'The digest of other content.',
        claim(await sha256Digest(utf8('other content'))),
        broken,
      ),
      invalid(
        'rule-not-allowed',
        'A reading that the deployment does not allow.',
        claim(digests['jwe-text'], { rules: ['jcs-jwe'] }),
        broken,
      ),
      invalid('malformed', 'No digest.', claim('sha-256=:AAAA:'), { rule: 'O-17', code: 'digest_malformed' }),
    ],
  }
}
