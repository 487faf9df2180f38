/** `npm run test:interop`. One part after the other; a part that fails sets the exit code. */

await import('../../interop/second-implementation.ts')
await import('../../interop/curl-agent.ts')
await import('../../interop/python-agent.ts')
