const NAMES = [
  ...['assert', 'child_process', 'cluster', 'dns', 'dns/promises', 'fs/promises'],
  ...['http', 'perf_hooks', 'process', 'worker_threads', 'zlib'],
]

/**
 * Loads what a service asks Node.js for. To be called before `keepFlag`: Node.js has the code of its own modules compiled, and V8 takes it only while its flags are
 * as usual. From their sources they take 30 ms of CPU, and 10 so. Commands ask for so few that it makes no difference.
 */
export async function loadBuiltIns(): Promise<void> {
  await Promise.all(NAMES.map((name) => import(`node:${name}`)))
}
