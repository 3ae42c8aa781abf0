import { AppError } from '../../errors/app-error.js'
import type { DataImage } from './data/data-image.js'
import { printImage } from './data/print-image.js'
import type { HostValues } from './host-values.js'
import type { ModuleMemory } from './module/module-memory.js'
import type { PolicyExports } from './module/policy-exports.js'

export const ALIGNMENT = 8

/** The address of `data` in a module's memory and the first free address after it. */
export interface PlacedData {
  readonly root: number
  readonly end: number
}

/** Reserves memory for the image of the data. `from` is the end of the memory in use. */
export function reserveImage(
  memory: ModuleMemory,
  { bytes, base, root }: DataImage,
  from: number,
): PlacedData {
  if (from > base) throw new AppError('internal', 'the data was made for a smaller policy module')
  memory.reserve(base, bytes.length)
  return { root, end: base + bytes.length }
}

export function copyImage(
  memory: ModuleMemory,
  { bytes, base }: DataImage,
  start: number,
  end: number,
): void {
  memory.place(bytes.subarray(start, end), base + start)
}

/** Parses the data in the module if its runtime has another memory layout. */
export function parseImage(
  exports: PolicyExports,
  values: HostValues,
  data: DataImage,
  from: number,
): PlacedData {
  exports.opa_heap_ptr_set(from)
  const root = values.parse(printImage(data, data.root), exports.opa_json_parse)
  return { root, end: exports.opa_heap_ptr_get() }
}

/** Rounds an address up to the alignment of values. */
export function align(address: number): number {
  return Math.ceil(address / ALIGNMENT) * ALIGNMENT
}
