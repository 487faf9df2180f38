import manifest from '../../package.json' with { type: 'json' }

const { dependencies } = manifest

/** Name and version of each peer; versions in the manifest are exact. */
export const PEERS = {
  pgBoss: `pg-boss ${dependencies['pg-boss']}`,
  graphileWorker: `graphile-worker ${dependencies['graphile-worker']}`,
  a2a: `a2a-js ${dependencies['@a2a-js/sdk']}`,
} as const
