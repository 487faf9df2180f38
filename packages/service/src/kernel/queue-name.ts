/** Queues of frequent mutations, as metrics and traces name them. */
export type QueueName = 'packages' | 'package_receipts' | 'policy_receipts' | 'acknowledgements'
