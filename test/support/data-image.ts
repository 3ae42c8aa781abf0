import { loadData } from '../../src/rego/data/load-data.js'
import type { DataImage } from '../../src/rego/wasm/data/data-image.js'

/** Enough for a module with a policy or two. */
const SMALL_MODULE_BYTES = 1024 * 1024

/** The image of a JSON text for modules whose own data ends before `base`. */
export function imageOf(json: string, base = SMALL_MODULE_BYTES): DataImage {
  return loadData([[{ file: 'data.json', at: [], content: Buffer.from(json) }]], base).image
}
