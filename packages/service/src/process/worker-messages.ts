import type { Config } from '../config/index.ts'
import type { RunningService } from '../service.ts'

/** What the first process tells a worker: everything it needs, once; later to stop. */
export type ToWorker = { readonly kind: 'start'; readonly config: Config } | { readonly kind: 'stop' }

/** Where the workers listen together. */
export type WorkerAddresses = Pick<RunningService, 'urls' | 'operatorTokenFile'>

/** What a worker answers. */
export type FromWorker =
  | ({ readonly kind: 'ready' } & WorkerAddresses)
  | { readonly kind: 'failed'; readonly message: string }
