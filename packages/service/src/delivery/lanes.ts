import {
  FIRST_WINDOW,
  MAXIMUM_IN_FLIGHT,
  MAXIMUM_IN_FLIGHT_PER_ENDPOINT,
  MAXIMUM_LANES,
  MAXIMUM_TROUBLED_IN_FLIGHT,
  MAXIMUM_YOUNG,
  TROUBLED_WINDOW,
} from './limits.ts'

/** How many deliveries to claim for an endpoint. */
export interface Wanted {
  readonly endpointId: string
  readonly room: number
}

interface Lane {
  readonly endpointId: string
  window: number
  inFlight: number
  isTroubled: boolean
  /** There may be something due. */
  hasWork: boolean
  isBeingClaimed: boolean
  /** The earliest known time at which something becomes due, in milliseconds. */
  dueAt: number | undefined
}

/**
 * One lane per endpoint with work, kept in memory: who has something due, and how much of it may be under way. An
 * endpoint's share grows with what it takes and falls to one when it fails, so that a receiver that hangs holds
 * little and delays only itself. Endpoints take turns.
 */
export function createLanes() {
  const lanes = new Map<string, Lane>()
  /** Lanes that can take something now, those that waited longest first. */
  const ready = new Set<Lane>()
  /** Lanes with a time at which to look again. */
  const scheduled = new Set<Lane>()
  let inFlight = 0
  let troubledInFlight = 0
  /** This process's share of what an endpoint gets from all of them. */
  let share = MAXIMUM_IN_FLIGHT_PER_ENDPOINT

  function laneOf(endpointId: string): Lane | undefined {
    const known = lanes.get(endpointId)
    if (known || lanes.size >= MAXIMUM_LANES) return known
    const lane: Lane = {
      endpointId,
      window: FIRST_WINDOW,
      inFlight: 0,
      isTroubled: false,
      hasWork: false,
      isBeingClaimed: false,
      dueAt: undefined,
    }
    lanes.set(endpointId, lane)
    return lane
  }

  /** Puts the lane where it belongs after a change. */
  function place(lane: Lane): void {
    if (lane.hasWork && !lane.isBeingClaimed && lane.inFlight < windowOf(lane)) ready.add(lane)
    else ready.delete(lane)
    if (lane.dueAt === undefined) scheduled.delete(lane)
    else scheduled.add(lane)
    const isIdle = !lane.hasWork && !lane.isBeingClaimed && lane.inFlight === 0 && lane.dueAt === undefined
    if (isIdle) lanes.delete(lane.endpointId)
  }

  function windowOf(lane: Lane): number {
    return Math.min(lane.window, share)
  }

  function setTroubled(lane: Lane, isTroubled: boolean): void {
    if (lane.isTroubled === isTroubled) return
    lane.isTroubled = isTroubled
    troubledInFlight += isTroubled ? lane.inFlight : -lane.inFlight
  }

  function addInFlight(lane: Lane, count: number): void {
    lane.inFlight += count
    inFlight += count
    if (lane.isTroubled) troubledInFlight += count
  }

  return {
    inFlight: () => inFlight,
    size: () => lanes.size,
    hasReady: () => ready.size > 0,

    /** Endpoints are shared with this number of other processes. */
    shareWith(others: number): void {
      const next = Math.max(1, Math.floor(MAXIMUM_IN_FLIGHT_PER_ENDPOINT / (others + 1)))
      if (next === share) return
      share = next
      for (const lane of lanes.values()) place(lane)
    },

    /** Something may be due now. */
    wake(endpointId: string): void {
      const lane = laneOf(endpointId)
      if (!lane) return
      lane.hasWork = true
      place(lane)
    },

    /** Something becomes due then. */
    schedule(endpointId: string, at: number): void {
      const lane = laneOf(endpointId)
      if (!lane) return
      lane.dueAt = Math.min(lane.dueAt ?? at, at)
      place(lane)
    },

    /** Wakes those whose time has come; they may have more to do later, which nobody remembers. */
    wakeDue(now: number): string[] {
      const due: string[] = []
      for (const lane of scheduled) {
        if (lane.dueAt === undefined || lane.dueAt > now) continue
        lane.dueAt = undefined
        lane.hasWork = true
        due.push(lane.endpointId)
        place(lane)
      }
      return due
    },

    /** Whose turn it is, within what is free. */
    take(atMost = MAXIMUM_YOUNG): Wanted[] {
      let free = Math.min(MAXIMUM_IN_FLIGHT - inFlight, atMost)
      let freeForTroubled = MAXIMUM_TROUBLED_IN_FLIGHT - troubledInFlight
      const wanted: Wanted[] = []
      const waiting = Math.min(ready.size, MAXIMUM_YOUNG)
      for (const lane of ready) {
        if (free <= 0 || wanted.length >= MAXIMUM_YOUNG) break
        if (lane.isTroubled && freeForTroubled <= 0) continue
        const fairShare = Math.max(1, Math.floor(free / Math.max(1, waiting - wanted.length)))
        const room = Math.min(windowOf(lane) - lane.inFlight, fairShare)
        free -= room
        if (lane.isTroubled) freeForTroubled -= room
        lane.isBeingClaimed = true
        // What is reported from here on may come too late for the claim.
        lane.hasWork = false
        wanted.push({ endpointId: lane.endpointId, room })
      }
      for (const { endpointId } of wanted) {
        const lane = lanes.get(endpointId)
        if (lane) place(lane)
      }
      return wanted
    },

    /** What came of it; a lane that got all it wanted may have more. */
    claimed({ endpointId, room }: Wanted, got: number): void {
      const lane = lanes.get(endpointId)
      if (!lane) return
      lane.isBeingClaimed = false
      lane.hasWork ||= got >= room
      addInFlight(lane, got)
      place(lane)
    },

    /** One request less. `isWell`: undefined where it says nothing about the receiver. */
    finished(endpointId: string, isWell: boolean | undefined): void {
      const lane = lanes.get(endpointId)
      if (!lane) return
      addInFlight(lane, -1)
      if (isWell !== undefined) {
        setTroubled(lane, !isWell)
        lane.window = isWell ? Math.min(lane.window + 1, MAXIMUM_IN_FLIGHT_PER_ENDPOINT) : TROUBLED_WINDOW
      }
      place(lane)
    },
  }
}

export type Lanes = ReturnType<typeof createLanes>
