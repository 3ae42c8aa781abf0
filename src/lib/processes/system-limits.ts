import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'

const GROUPS = '/sys/fs/cgroup'

/**
 * Number of cores that this process may use, at least 1: the smaller of its CPU affinity and its
 * cgroup quota. A container limited to half a core may see 64 cores.
 */
export function availableCores(): number {
  return Math.max(1, Math.min(availableParallelism(), Math.floor(cpuQuota(readText))))
}

/**
 * CPU quota of the control groups of this process, in cores (Linux, cgroup v2). Infinity if
 * unlimited.
 */
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

/**
 * Maximum number of files and connections that this process may have open (Linux). Infinity if
 * unknown.
 */
export function openFilesLimit(read: (file: string) => string = readText): number {
  const limit = /^Max open files\s+(?<soft>\d+)/m.exec(read('/proc/self/limits'))?.groups?.['soft']
  return limit === undefined ? Infinity : Number(limit)
}

/** Empty if the file does not exist, as on other systems. */
function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
