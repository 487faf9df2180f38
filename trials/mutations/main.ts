/** `npm run trial -- mutations`: every mutation of a capsule. `npm run test:faults` tries every tenth. */

process.env['EVERY_MUTATION'] = '1'
process.argv.push('--trials', 'mutated-capsule')
await import('../../tools/tests/run-tests.ts')
