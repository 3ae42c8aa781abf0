/** What every command asks Node.js for, beyond what it has loaded when it starts. */
const OF_ALL = ['child_process', 'fs/promises', 'perf_hooks', 'process', 'zlib']
/** What evaluating asks for. */
const OF_EVALUATION = ['dns/promises', 'http', 'worker_threads']
/** What listening asks for. */
const OF_SERVICE = ['assert', 'cluster', 'dns']
/** Commands that ask for no more than all do. */
const PLAIN = new Set(['build', '--help', '-h', '--version', '-V', undefined])

/**
 * Loads what a command asks Node.js for. To be called before `keepFlag`: Node.js has the code of its own modules compiled, and V8 takes it only while its flags are
 * as usual. From their sources, those of a service take 30 ms of CPU, and 10 so.
 */
export async function loadBuiltIns(command: string | undefined): Promise<void> {
  const names = [
    ...OF_ALL,
    ...(PLAIN.has(command) ? [] : OF_EVALUATION),
    ...(command === 'serve' ? OF_SERVICE : []),
  ]
  await Promise.all(names.map((name) => import(`node:${name}`)))
}
