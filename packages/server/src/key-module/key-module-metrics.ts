import type { CallObserver } from '@agent-exchange/pkcs11'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

const SECONDS = [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05, 0.25, 1, 5]

/** Calls of the PKCS#11 module that holds the signing keys. Without one, these metrics have no samples. */
export function createKeyModuleMetrics(registry: Registry): { readonly onCall: CallObserver } {
  const registers = [registry]
  const up = new Gauge({
    name: 'aex_key_module_up',
    help: '1 if the last call of the key module was answered, 0 if the module is away or refuses the PIN',
    labelNames: ['module'],
    registers,
  })
  const calls = new Counter({
    name: 'aex_key_module_calls_total',
    help: 'Calls of the key module, by operation and result: ok, or the code of the failure',
    labelNames: ['operation', 'result'],
    registers,
  })
  const seconds = new Histogram({
    name: 'aex_key_module_call_seconds',
    help: 'Duration of calls of the key module, including the wait for it',
    labelNames: ['operation'],
    buckets: SECONDS,
    registers,
  })
  return {
    onCall({ name: operation, seconds: duration, failure }) {
      const isAnswered = failure === undefined || failure === 'key_missing' || failure === 'call_refused'
      up.set({ module: 'pkcs11' }, isAnswered ? 1 : 0)
      calls.inc({ operation, result: failure ?? 'ok' })
      seconds.observe({ operation }, duration)
    },
  }
}
