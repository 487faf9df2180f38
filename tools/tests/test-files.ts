import { globSync } from 'node:fs'

const TEST_FILES = [
  'packages/*/src/**/*.test.ts',
  'demo/**/*.test.ts',
  'tools/**/*.test.ts',
  'trials/**/*.test.ts',
  'interop/**/*.test.ts',
  'bench/**/*.test.ts',
]
/** Trials start services, kill them or take long: `npm run test:faults` runs them. */
const TRIAL = '.trial.test.ts'
/** These measure or change their whole process, so they do not share it. */
const ALONE = '.process.test.ts'

export interface TestFiles {
  /** Each in a process of its own. */
  readonly alone: readonly string[]
  /** One after the other in a few processes. */
  readonly shared: readonly string[]
}

/** The files whose path contains one of the words, or all where there is none. */
export function findTestFiles(root: string, words: readonly string[], trials: boolean): TestFiles {
  const paths = globSync(TEST_FILES, { cwd: root, exclude: ['**/node_modules/**'] })
    .filter((path) => path.endsWith(TRIAL) === trials)
    .filter((path) => words.length === 0 || words.some((word) => path.includes(word)))
    .toSorted()
  const isAlone = (path: string) => trials || path.endsWith(ALONE)
  return { alone: paths.filter(isAlone), shared: paths.filter((path) => !isAlone(path)) }
}
