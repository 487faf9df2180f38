/** Overrides of the deployment profile for a log that publishes at once, so that a test does not wait for it. */
export const QUICK_LOG = {
  'O-07': { transparency_checkpoint_milliseconds: 100, transparency_sequence_milliseconds: 20 },
} as const
