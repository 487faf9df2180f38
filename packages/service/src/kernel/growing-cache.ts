import { LRUCache } from 'lru-cache'

/** An LRU cache that grows with its entries. With `max`, the library allocates room for all of them at once. */
export function growingCache<Value extends object | number>(maximum: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: maximum, sizeCalculation: () => 1 })
}
