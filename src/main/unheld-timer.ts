/** Calls back once after so many milliseconds, unless the function that it gives is called first. It holds no process alive. */
export function setUnheldTimer(callback: () => void, delayMs: number): () => void {
  const timer = setTimeout(callback, delayMs)
  timer.unref()
  return () => clearTimeout(timer)
}
