import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'

const GROUPS = '/sys/fs/cgroup'

/**
 * The cores that this process may use, 1 at least: those that the system lets it run on, and no more than its quota, if it has one: a
 * container that may use half a core has 64 of them to run on.
 */
export function availableCores(): number {
  return Math.max(1, Math.min(availableParallelism(), Math.floor(cpuQuota(readText))))
}

/** The cores' worth of time that the control groups of this process grant (Linux, cgroup v2); Infinity where nothing is limited. */
export function cpuQuota(read: (file: string) => string): number {
  const own = /^0::(?<path>\/.*)$/m.exec(read('/proc/self/cgroup'))?.groups?.['path'] ?? '/'
  const quotas: number[] = []
  for (let path = own; ; path = dirname(path)) {
    const [quota = 'max', period = '1'] = read(join(GROUPS, path, 'cpu.max'))
      .trim()
      .split(' ')
    if (quota !== 'max' && quota !== '') quotas.push(Number(quota) / Number(period))
    if (path === '/') return Math.min(Infinity, ...quotas)
  }
}

/** How many files and connections this process may have open at once (Linux); Infinity where that is not known. */
export function openFilesLimit(read: (file: string) => string = readText): number {
  const limit = /^Max open files\s+(?<soft>\d+)/m.exec(read('/proc/self/limits'))?.groups?.['soft']
  return limit === undefined ? Infinity : Number(limit)
}

/** Empty where there is no such file: another system, or no limit. */
function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
