import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** V8's own `gc`, of which the young are collected alone where anything is asked for (src/extensions/gc-extension.cc): that of Node.js 20 takes every object for it. */
type Collect = (what?: { readonly type: 'minor' }) => void

let collect: Collect | undefined

/** Gives what collects the garbage of the calling thread, at once. */
export function collectorOfGarbage(): Collect {
  collect ??= exposeCollect()
  return collect ?? LEAVE_TO_V8
}

const LEAVE_TO_V8: Collect = () => undefined

/** With more in use, it is left to V8, which marks it in steps: at once it takes the thread some 1.5 ms for each megabyte. */
const MOST_BYTES = 32 * 1024 * 1024

/**
 * With the flag for small heaps V8 takes another that bounds the space for new objects (flag-definitions.h), and keeps it: threads that start later would have 1 MB, and
 * compile Node.js's own modules from their sources (see `keepFlag`). Who runs the program may have named a bound.
 */
const IS_SPACE_NAMED = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].some((option) =>
  option.includes('semi-space-size'),
)

/** Collects all garbage of the calling thread, and gives what is free to the system, unless its heap has more than `mostBytes` in use. */
export function collectEverything(mostBytes = MOST_BYTES): void {
  const collectGarbage = collectorOfGarbage()
  // Much work leaves many young objects behind, of which hardly any is in use.
  collectGarbage({ type: 'minor' })
  if (getHeapStatistics().used_heap_size > mostBytes) return
  // By itself V8 leaves pages that are half empty as they are.
  setFlagsFromString('--optimize-for-size')
  try {
    collectGarbage()
  } finally {
    setFlagsFromString('--no-optimize-for-size')
    if (!IS_SPACE_NAMED) setFlagsFromString('--max-semi-space-size=0')
  }
}

/** Contexts that are made while the flag is set have the function; no others do. The flag is of all threads: another may have taken it back just then. */
function exposeCollect(): Collect | undefined {
  setFlagsFromString('--expose-gc')
  try {
    return runInNewContext('globalThis.gc') as Collect | undefined
  } finally {
    setFlagsFromString('--no-expose-gc')
  }
}
