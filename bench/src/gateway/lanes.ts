/** Packages that are being sent at the same time, by either contender. */
export const SENDERS = 8

/** Does something this often, with as many lanes as there are senders. */
export async function inLanes(times: number, work: (lane: number) => Promise<unknown>): Promise<void> {
  let begun = 0
  const lane = async (number: number) => {
    while (begun++ < times) await work(number)
  }
  await Promise.all(Array.from({ length: SENDERS }, (_, number) => lane(number)))
}
