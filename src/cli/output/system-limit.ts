import { toError } from '../../errors/app-error.js'

const NO_MEMORY =
  'the system gives no more memory: raise the limit of this process (ulimit -v, or that of its container); WebAssembly sets aside many gigabytes of addresses, which hold no memory'
const ELSEWHERE = 'or name another directory with --data-dir, for temporary files with TMPDIR'

/** What to do about errors of the system that are no fault of this program, by their codes (errno(3)). */
const ADVICE: ReadonlyMap<unknown, string> = new Map([
  ['EMFILE', 'this process may open no more files: raise the limit (ulimit -n) to 1024 or more'],
  ['ENFILE', 'the machine may open no more files: end what holds many, or raise its limit (fs.file-max)'],
  ['ENOSPC', `no space is left on the disk: free some, ${ELSEWHERE}`],
  ['EDQUOT', `the quota of the disk is used up: free some, ${ELSEWHERE}`],
  ['EROFS', `the file system can only be read: mount it for writing, ${ELSEWHERE}`],
  ['ENOMEM', NO_MEMORY],
  ['ERR_WORKER_OUT_OF_MEMORY', NO_MEMORY],
])

/** What V8 says where the system grants no memory; it has no code. */
const WITHOUT_MEMORY = /could not allocate memory|Cannot allocate Wasm memory|Array buffer allocation failed/

/** What a person can do about an error where a limit of the machine is behind it, with the error; undefined for all others. */
export function systemLimitText(raw: unknown): string | undefined {
  const error: Error & { readonly code?: unknown } = toError(raw)
  const { message, cause, code } = error
  const advice = ADVICE.get(code) ?? (WITHOUT_MEMORY.test(message) ? NO_MEMORY : undefined)
  if (advice !== undefined) return `${advice} (${message})`
  return cause === undefined ? undefined : systemLimitText(cause)
}
