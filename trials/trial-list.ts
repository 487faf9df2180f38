/** The trials of this repository, in the order of `--list`. Each is a folder beside this file, and starts with its main.ts. */

export interface Trial {
  /** Of its folder. */
  readonly name: string
  /** What it proves. */
  readonly what: string
  /** Tools that a machine may lack. Without them the trial, or a part of it, prints `skipped: WHY` and passes. */
  readonly needs?: string
  /** Options of its shorter form. */
  readonly quick?: readonly string[]
}

export const TRIALS: readonly Trial[] = [
  {
    name: 'faults',
    what: 'kill -9, lost answers, replicas, fuzzing, every *.trial.test.ts',
    needs: 'an installed PostgreSQL for one part',
    quick: ['--quick'],
  },
  {
    name: 'agent-faults',
    what: 'a receiving and an answering agent, killed before every statement',
    quick: ['--quick'],
  },
  {
    name: 'gateway',
    what: 'two gateways of two instances each, killed under load with database and key module',
    needs: 'softhsm2, a C++ compiler, make, npm registry for keys in a module',
    quick: ['--quick'],
  },
  {
    name: 'failover',
    what: 'a replicated PostgreSQL under load while its parts are killed',
    needs: 'patroni, etcd, haproxy, pgbouncer, PostgreSQL',
    quick: ['--quick'],
  },
  {
    name: 'steady',
    what: 'bounded load over simulated days with short retention',
    quick: ['--minutes', '1'],
  },
  { name: 'upgrade', what: 'a rolling upgrade from the previous release under load', needs: 'git' },
  { name: 'packed', what: 'the packages as they would be published, installed and used' },
  {
    name: 'deploy',
    what: 'the files of deploy/, rendered, linted and started',
    needs: 'curl, bubblewrap, promtool',
  },
  { name: 'browser', what: 'the pages in a real browser', needs: 'chromium; Java for Keycloak' },
  {
    name: 'interop',
    what: 'a second implementation in Python and an agent of curl and openssl',
    needs: 'python3-jwcrypto, curl, openssl',
  },
  {
    name: 'outside',
    what: 'schemathesis and clients generated from /openapi.json',
    needs: 'Python, Java, Go',
  },
  { name: 'conformance', what: 'the conformance kit on our service, on broken ones and on validators' },
  {
    name: 'log',
    what: 'independent verifiers and witnesses of the transparency log',
    needs: 'Go, Python, OpenSSH',
  },
  {
    name: 'mutations',
    what: 'every mutation of a witnessed capsule changes its verdict',
  },
  {
    name: 'mcp',
    what: 'the MCP server against official tools, injections, forged approvals',
    needs: 'npm registry',
  },
  {
    name: 'pkcs11',
    what: 'keys in SoftHSM: signatures, agreements, an exchange, the module away and back',
    needs: 'softhsm2, a C++ compiler, make, npm registry',
  },
  { name: 'keycloak', what: 'access tokens of a real Keycloak', needs: 'Java' },
  { name: 'edc', what: 'two real EDC runtimes', needs: 'Java, Maven' },
]
