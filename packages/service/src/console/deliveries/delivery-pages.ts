import { get, liveGet, post, type ConsolePage } from '../console-page.ts'
import { showDeliveries, watchDeliveries } from './delivery-list.ts'
import { replayDelivery, showDelivery, watchDelivery } from './delivery-page.ts'
import { replayMany, showReplay } from './replay-page.ts'

export const deliveriesPages: readonly ConsolePage[] = [
  liveGet('/deliveries', showDeliveries, watchDeliveries),
  liveGet('/deliveries/:delivery_id', showDelivery, watchDelivery),
  post('/deliveries/:delivery_id/replay', replayDelivery),
  get('/replay', showReplay),
  post('/replay', replayMany),
]
