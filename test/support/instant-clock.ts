/**
 * A clock that advances only by waiting, which takes no time, or on request. Records its waits in
 * milliseconds. Nothing is random.
 */
export function instantClock(startMs: number) {
  let clock = startMs
  const waits: number[] = []
  const pass = (ms: number): void => {
    clock += ms
  }
  return {
    now: () => clock,
    wait: (ms: number): Promise<void> => {
      waits.push(ms)
      pass(ms)
      return Promise.resolve()
    },
    random: () => 0.5,
    waits,
    pass,
  }
}
