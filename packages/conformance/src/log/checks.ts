import {
  decodeBundle,
  evaluateQuorum,
  leafHash,
  proveConsistency,
  rootFromTiles,
  TILE_WIDTH,
  tilePath,
  tileWidth,
  type TileName,
  verifyConsistency,
} from '@agent-exchange/log'
import type { Check } from '../run/check.ts'
import { holds } from '../run/expect.ts'
import { NotJudged } from '../run/finding.ts'
import { judged, type LogContext, opened, readCheckpoint, readTile } from './log-context.ts'
import { tileRootOf } from './tile-root.ts'

/** Tiles of a level that one check reads. */
const SAMPLED_TILES = 16
const HASH_LENGTH = 32

const check = (name: string, title: string, run: Check<LogContext>['run']): Check<LogContext> => ({
  name: `log/${name}`,
  ids: ['AUD-03'],
  title,
  run,
})

/** C2SP tlog-checkpoint, tlog-cosignature and tlog-tiles, read as a stranger reads them. */
export const LOG_CHECKS: readonly Check<LogContext>[] = [
  check('checkpoint', 'the checkpoint is a note that a key of the policy signed', async (context) => {
    const { size } = await opened(context.first, context)
    holds(size > 0, 'the log is empty: send a package first')
  }),
  check('witnesses', 'the witnesses of the policy cosigned the checkpoint', async (context) => {
    const { policy } = context
    if (policy.quorum === undefined) throw new NotJudged('the policy asks for no witness')
    const { counted, of, isMet } = evaluateQuorum(policy, (await opened(context.first, context)).signatures)
    holds(isMet, `${counted} of ${of} witnesses cosigned, which the quorum of the policy does not allow`)
  }),
  check('root', 'the tiles hash to the root of the checkpoint', async (context) => {
    const { size, root } = await opened(context.first, context)
    const actual = await judged('the tiles', () => rootFromTiles(size, (name) => readTile(context, name)))
    holds(isSame(actual, root), 'the tiles hash to another root than the checkpoint has')
  }),
  check('tiles', 'each full tile hashes to its place in the tile above', async (context) => {
    for (const name of await sampledTiles(context, 0)) {
      const above = await readTile(context, name.parent)
      const hash = above.subarray(name.place * HASH_LENGTH, (name.place + 1) * HASH_LENGTH)
      const own = tileRootOf(await readTile(context, name))
      holds(isSame(own, hash), `${tilePath(name)} does not hash to its place in ${tilePath(name.parent)}`)
    }
  }),
  check('entries', 'the entries hash to the leaves of their tile', async (context) => {
    const { size } = await opened(context.first, context)
    for (const index of context.sample(Math.ceil(size / TILE_WIDTH), SAMPLED_TILES)) {
      const width = tileWidth({ level: 0, index }, size)
      const bundle = { level: 'entries', index, width } as const
      const entries = await judged(tilePath(bundle), async () =>
        decodeBundle(await readTile(context, bundle), width),
      )
      const hashes = await readTile(context, { level: 0, index, width })
      holds(
        isSame(Buffer.concat(entries.map(leafHash)), hashes),
        `${tilePath(bundle)} holds other entries than tile/0 commits to`,
      )
    }
  }),
  check('unchanged', 'a full tile keeps its bytes', async (context) => {
    const { size } = await opened(context.first, context)
    for (const index of context.sample(Math.floor(size / TILE_WIDTH) || 1, SAMPLED_TILES)) {
      const name = { level: 0, index, width: tileWidth({ level: 0, index }, size) }
      const twice = [await readTile(context, name), await readTile(context, name)] as const
      holds(isSame(...twice), `${tilePath(name)} has other bytes the second time`)
    }
  }),
  check('absent', 'what the tree does not reach is not answered with a tile', async (context) => {
    const { size } = await opened(context.first, context)
    const beyond = { level: 0, index: Math.floor(size / TILE_WIDTH) + 1_000_000, width: TILE_WIDTH } as const
    for (const path of [tilePath(beyond), 'tile/0/000.p/257', 'tile/0/0']) {
      const { status } = await context.read(path)
      holds(status >= 400 && status < 500, `${path} answered ${status} instead of a refusal`)
    }
  }),
  {
    ...check('continues', 'a later checkpoint continues an earlier one', async (context) => {
      const earlier = await opened(context.earlier ?? context.first, context)
      let later = await opened(await readCheckpoint(context), context)
      while (later.size === earlier.size && isSame(later.root, earlier.root)) {
        if (!(await context.waitForGrowth()))
          throw new NotJudged('the log did not grow while the kit waited: send a package meanwhile')
        later = await opened(await readCheckpoint(context), context)
      }
      holds(later.origin === earlier.origin, 'a later checkpoint has another origin')
      await judged('the later checkpoint', async () =>
        verifyConsistency({
          oldSize: earlier.size,
          oldRoot: earlier.root,
          newSize: later.size,
          newRoot: later.root,
          proof: await proveConsistency(earlier.size, later.size, (name) => readTile(context, name)),
        }),
      )
    }),
    last: true,
  },
]

interface PlacedTile extends TileName {
  readonly level: number
  readonly parent: TileName & { readonly level: number }
  /** Which hash of the parent is that of this tile. */
  readonly place: number
}

/** Full tiles of this level and of those above it, with the tile that holds the hash of each. */
async function sampledTiles(context: LogContext, level: number): Promise<PlacedTile[]> {
  const { size } = await opened(context.first, context)
  const full = Math.floor(size / TILE_WIDTH ** (level + 1))
  if (full === 0) return []
  const own = context.sample(full, SAMPLED_TILES).map((index) => {
    const above = { level: level + 1, index: Math.floor(index / TILE_WIDTH) }
    return {
      level,
      index,
      width: TILE_WIDTH,
      parent: { ...above, width: tileWidth(above, size) },
      place: index % TILE_WIDTH,
    }
  })
  return [...own, ...(await sampledTiles(context, level + 1))]
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0
}
