/** A time as the contract writes it (section 2.1), in UTC: `2026-01-31 12:00:00.000.Z`. */
export function contractTime(timeMs: number): string {
  return new Date(timeMs).toISOString().replace('T', ' ').replace('Z', '.Z')
}
