import type PQueue from 'p-queue'

/**
 * Runs work at its turn in a queue. Rejects with the signal's reason if that is aborted before.
 * Unlike the queue's own signal, it does not affect started work.
 */
export async function waitInQueue<T>(queue: PQueue, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const waiting = new AbortController()
  const leave = (): void => waiting.abort(signal.reason)
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  const begin = (): Promise<T> => {
    signal.removeEventListener('abort', leave)
    return work()
  }
  return await queue.add(begin, { signal: waiting.signal })
}
