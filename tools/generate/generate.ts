/** `npm run generate -- NAME`: writes generated files. Without a name: those of the contract. */

const GENERATORS = {
  contract: () => import('./contract-files.ts'),
  schema: () => import('../../packages/testkit/src/write-schema.ts'),
  interop: () => import('../../interop/generate.ts'),
}

const name = process.argv.slice(2).find((arg) => !arg.startsWith('-')) ?? 'contract'
if (isGenerator(name)) await GENERATORS[name]()
else {
  console.error(`Nothing is generated under the name ${name}. Names: ${Object.keys(GENERATORS).join(', ')}.`)
  process.exitCode = 2
}

function isGenerator(given: string): given is keyof typeof GENERATORS {
  return Object.hasOwn(GENERATORS, given)
}
