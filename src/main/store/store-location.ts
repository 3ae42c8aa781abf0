import type { Config } from '../../config/config.js'

/** Which engine keeps the durable records, and where: a plain value, so that threads can be told. */
export interface StoreLocation {
  readonly engine: 'sqlite'
  /** The folder of `tidegate.db`. */
  readonly dataDir: string
}

/** The one place that decides from the configuration which engine keeps the durable records. */
export function storeLocation({ dataDir }: Config): StoreLocation {
  return inDataDirectory(dataDir)
}

/** The records of a service that keeps them in files of its own. */
export function inDataDirectory(dataDir: string): StoreLocation {
  return { engine: 'sqlite', dataDir }
}
