import { expect, test } from 'vitest'

import { availableCores, cpuQuota, openFilesLimit } from '../../../src/lib/processes/system-limits.js'

const files =
  (contents: Readonly<Record<string, string>>) =>
  (file: string): string =>
    contents[file] ?? ''

test('there is always a core', () => {
  expect(availableCores()).toBeGreaterThanOrEqual(1)
})

test('a quota counts, that of a group above too', () => {
  const own = '0::/system.slice/tidegate.service\n'
  const read = files({
    '/proc/self/cgroup': own,
    '/sys/fs/cgroup/system.slice/tidegate.service/cpu.max': 'max 100000\n',
    '/sys/fs/cgroup/system.slice/cpu.max': '150000 100000\n',
  })
  expect(cpuQuota(read)).toBe(1.5)
})

test('a container sees its own group as the root', () => {
  expect(cpuQuota(files({ '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': '50000 100000\n' }))).toBe(
    0.5,
  )
})

test.each([{}, { '/proc/self/cgroup': '4:memory:/x\n' }, { '/sys/fs/cgroup/cpu.max': 'max 100000\n' }])(
  'without a quota nothing is limited: %j',
  (contents) => {
    expect(cpuQuota(files(contents))).toBe(Infinity)
  },
)

test.each([
  ['Limit  Soft Limit  Hard Limit\nMax open files   256   4096   files', 256],
  ['Max open files   unlimited   unlimited   files', Infinity],
  ['', Infinity],
])('limits %j allow %d open files', (limits, most) => {
  expect(openFilesLimit(() => limits)).toBe(most)
})
