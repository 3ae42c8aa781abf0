import type { KnownOperations } from './store/sqlite/service/serve-store.js'

/** Every operation of the store, of all parts of the service: what is not listed here, its threads do not find. */
export const operations: KnownOperations = {
  write: [],
  read: [],
}
