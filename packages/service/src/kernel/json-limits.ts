import { isMemberName, pointerTo, type DeploymentProfile } from '@agent-exchange/protocol'
import { scanTokens, type Excess } from './json-tokens.ts'
import { Problem } from './problem.ts'

/**
 * O-14: limits of depth, lists, objects, values and escapes. Checked before the text is parsed, because parsing and every later
 * check take time per value. The text may be anything: what is not JSON is refused by the parser.
 */
export function assertJsonLimits(json: Uint8Array, profile: DeploymentProfile, place = ''): void {
  const { json_depth, list_items, object_members, json_values, json_escapes } = profile['O-14']
  const excess = scanTokens(json, {
    depth: json_depth,
    items: list_items,
    members: object_members,
    values: json_values,
    escapes: json_escapes,
  })
  if (!excess) return
  if (excess.kind === 'depth')
    throw new Problem('malformed_request', { reason: 'json_depth', offset: excess.offset })
  const message = `Use lists of at most ${list_items} entries, objects of at most ${object_members} members, and at most ${json_values} values and ${json_escapes} escape sequences in all.`
  const failures = [{ pointer: pointerOf(excess.path, place), rule: 'O-14', message }]
  throw new Problem('validation_failed', { failures })
}

/** O-29: no schema was checked yet, so a name may be content. The pointer ends before the first unknown name. */
function pointerOf(path: Excess['path'], place: string): string {
  const end = path.findIndex((name) => typeof name === 'string' && !isMemberName(name))
  return (end < 0 ? path : path.slice(0, end)).reduce<string>(pointerTo, place)
}
