import { LRUCache } from 'lru-cache'
import {
  INITIAL_WINDOW,
  MAXIMUM_IN_FLIGHT,
  MAXIMUM_IN_FLIGHT_PER_ENDPOINT,
  MAXIMUM_LANES,
  MAXIMUM_FAILING_IN_FLIGHT,
  MAXIMUM_RAMP,
  MAXIMUM_CACHED,
  WINDOW_MEMORY_MS,
} from './webhook-limits.ts'

/** The number of deliveries to claim for an endpoint. */
export interface ClaimRequest {
  readonly endpointId: string
  readonly room: number
}

interface Lane {
  readonly endpointId: string
  /** Known from the first claim on. Until then the lane has its initial window. */
  organizationId: string | undefined
  window: number
  inFlight: number
  isFailing: boolean
  /** Deliveries may be due. */
  hasWork: boolean
  isBeingClaimed: boolean
  /** The earliest known time at which a delivery becomes due, in milliseconds. */
  dueAt: number | undefined
}

/**
 * In-memory scheduler with one lane per endpoint that has pending deliveries. The concurrency window of an endpoint
 * grows with each success and falls to one after a failure, so a hanging receiver delays only itself. Lanes take turns.
 * An organization has at most as many requests in flight as remain free: however many organizations have slow
 * receivers, there is room for the next one.
 */
export function createLanes() {
  const lanes = new Map<string, Lane>()
  /** Lanes with due deliveries and a free window, longest waiting first. */
  const ready = new Set<Lane>()
  /** Lanes with a known due time. */
  const scheduled = new Set<Lane>()
  const byOrganization = new Map<string, number>()
  /** Windows of idle lanes: at a low rate an endpoint is idle after each delivery. */
  const windows = new LRUCache<string, number>({ max: MAXIMUM_CACHED, ttl: WINDOW_MEMORY_MS })
  let inFlight = 0
  let failingInFlight = 0
  /** This process's share of MAXIMUM_IN_FLIGHT_PER_ENDPOINT. */
  let share = MAXIMUM_IN_FLIGHT_PER_ENDPOINT

  function laneOf(endpointId: string): Lane | undefined {
    const known = lanes.get(endpointId)
    if (known || lanes.size >= MAXIMUM_LANES) return known
    const lane: Lane = {
      endpointId,
      organizationId: undefined,
      window: windows.get(endpointId) ?? INITIAL_WINDOW,
      inFlight: 0,
      isFailing: false,
      hasWork: false,
      isBeingClaimed: false,
      dueAt: undefined,
    }
    lanes.set(endpointId, lane)
    return lane
  }

  /** Updates the sets after a change of the lane; forgets an idle lane. */
  function place(lane: Lane): void {
    if (lane.hasWork && !lane.isBeingClaimed && lane.inFlight < windowOf(lane)) ready.add(lane)
    else ready.delete(lane)
    if (lane.dueAt === undefined) scheduled.delete(lane)
    else scheduled.add(lane)
    const isIdle = !lane.hasWork && !lane.isBeingClaimed && lane.inFlight === 0 && lane.dueAt === undefined
    if (!isIdle) return
    lanes.delete(lane.endpointId)
    if (lane.window > INITIAL_WINDOW) windows.set(lane.endpointId, lane.window)
    else windows.delete(lane.endpointId)
  }

  function windowOf(lane: Lane): number {
    return Math.min(lane.window, share)
  }

  function setFailing(lane: Lane, isFailing: boolean): void {
    if (lane.isFailing === isFailing) return
    lane.isFailing = isFailing
    failingInFlight += isFailing ? lane.inFlight : -lane.inFlight
  }

  function addInFlight(lane: Lane, count: number): void {
    lane.inFlight += count
    inFlight += count
    if (lane.isFailing) failingInFlight += count
    if (lane.organizationId === undefined) return
    const held = (byOrganization.get(lane.organizationId) ?? 0) + count
    if (held > 0) byOrganization.set(lane.organizationId, held)
    else byOrganization.delete(lane.organizationId)
  }

  /** How many more requests the organization may have in flight. Each slot that it takes is one less that remains free. */
  const roomOfOrganization = (organizationId: string, free: number, asked = 0) =>
    Math.floor((free - (byOrganization.get(organizationId) ?? 0) - asked) / 2)

  return {
    inFlight: () => inFlight,
    size: () => lanes.size,
    hasReady: () => ready.size > 0,

    /** Divides the per-endpoint limit among this process and the other ones. */
    shareWith(others: number): void {
      const next = Math.max(1, Math.floor(MAXIMUM_IN_FLIGHT_PER_ENDPOINT / (others + 1)))
      if (next === share) return
      share = next
      for (const lane of lanes.values()) place(lane)
    },

    /** A delivery may be due now. */
    wake(endpointId: string): void {
      const lane = laneOf(endpointId)
      if (!lane) return
      lane.hasWork = true
      place(lane)
    },

    /** A delivery becomes due at this time. */
    schedule(endpointId: string, at: number): void {
      const lane = laneOf(endpointId)
      if (!lane) return
      lane.dueAt = Math.min(lane.dueAt ?? at, at)
      place(lane)
    },

    /** Wakes the lanes that have become due. The caller has to find out the next due time of each. */
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

    /** Picks the next lanes to claim for, within the free capacity. */
    take(atMost = MAXIMUM_RAMP): ClaimRequest[] {
      let free = MAXIMUM_IN_FLIGHT - inFlight
      let startable = Math.min(free, atMost)
      let freeForFailing = MAXIMUM_FAILING_IN_FLIGHT - failingInFlight
      const asked = new Map<string, number>()
      const wanted: ClaimRequest[] = []
      const roomOf = (lane: Lane) => {
        if (lane.isFailing && freeForFailing <= 0) return 0
        const { organizationId } = lane
        if (organizationId === undefined) return free
        return roomOfOrganization(organizationId, free, asked.get(organizationId))
      }
      const candidates: Lane[] = []
      for (const lane of ready) {
        if (candidates.length >= MAXIMUM_RAMP) break
        if (roomOf(lane) > 0) candidates.push(lane)
      }
      for (const [index, lane] of candidates.entries()) {
        if (startable <= 0) break
        const fairShare = Math.max(1, Math.floor(startable / (candidates.length - index)))
        const room = Math.min(windowOf(lane) - lane.inFlight, fairShare, roomOf(lane))
        if (room <= 0) continue
        free -= room
        startable -= room
        if (lane.isFailing) freeForFailing -= room
        if (lane.organizationId !== undefined)
          asked.set(lane.organizationId, (asked.get(lane.organizationId) ?? 0) + room)
        lane.isBeingClaimed = true
        // A wake-up from here on may come too late for this claim, so it sets the flag again.
        lane.hasWork = false
        wanted.push({ endpointId: lane.endpointId, room })
      }
      for (const { endpointId } of wanted) {
        const lane = lanes.get(endpointId)
        if (lane) place(lane)
      }
      return wanted
    },

    /**
     * Takes slots for deliveries that are about to be created, and returns how many. None while older deliveries of the
     * endpoint may be due, or while it fails: they would be overtaken. `finished` gives a slot back.
     */
    reserve(endpointId: string, organizationId: string, atMost: number): number {
      const lane = laneOf(endpointId)
      if (!lane) return 0
      const isFree = !lane.hasWork && !lane.isBeingClaimed && !lane.isFailing
      const forOrganization = roomOfOrganization(organizationId, MAXIMUM_IN_FLIGHT - inFlight)
      const room = isFree ? Math.min(windowOf(lane) - lane.inFlight, forOrganization, atMost) : 0
      lane.organizationId ??= organizationId
      addInFlight(lane, Math.max(room, 0))
      place(lane)
      return Math.max(room, 0)
    },

    /** Reports the result of a claim. A lane that got all it requested may have more work. */
    claimed({ endpointId, room }: ClaimRequest, got: number, organizationId?: string): void {
      const lane = lanes.get(endpointId)
      if (!lane) return
      lane.isBeingClaimed = false
      // Requests of a lane without an organization are counted nowhere: it has none in flight before its first claim.
      lane.organizationId ??= organizationId
      lane.hasWork ||= got >= room
      addInFlight(lane, got)
      place(lane)
    },

    /** Reports the end of one request. `isHealthy` is undefined if the result says nothing about the receiver. */
    finished(endpointId: string, isHealthy: boolean | undefined): void {
      const lane = lanes.get(endpointId)
      if (!lane) return
      addInFlight(lane, -1)
      if (isHealthy !== undefined) {
        setFailing(lane, !isHealthy)
        // After a failure, one request shows whether the receiver has recovered.
        lane.window = isHealthy ? Math.min(lane.window + 1, MAXIMUM_IN_FLIGHT_PER_ENDPOINT) : 1
      }
      place(lane)
    },
  }
}

export type Lanes = ReturnType<typeof createLanes>
