import { get, post, type ConsolePage } from '../console-page.ts'
import { showDeliveries } from './delivery-list.ts'
import { replayDelivery, showDelivery } from './delivery-page.ts'
import { replayMany, showReplay } from './replay-page.ts'

export const deliveriesPages: readonly ConsolePage[] = [
  get('/deliveries', showDeliveries),
  get('/deliveries/:delivery_id', showDelivery),
  post('/deliveries/:delivery_id/replay', replayDelivery),
  get('/replay', showReplay),
  post('/replay', replayMany),
]
