/** Object identifiers of the extended key usages; the place of each is its number in Go's x509.ExtKeyUsage. */
export const EXTENDED_KEY_USAGES: readonly string[] = [
  '2.5.29.37.0',
  '1.3.6.1.5.5.7.3.1',
  '1.3.6.1.5.5.7.3.2',
  '1.3.6.1.5.5.7.3.3',
  '1.3.6.1.5.5.7.3.4',
  '1.3.6.1.5.5.7.3.5',
  '1.3.6.1.5.5.7.3.6',
  '1.3.6.1.5.5.7.3.7',
  '1.3.6.1.5.5.7.3.8',
  '1.3.6.1.5.5.7.3.9',
  '1.3.6.1.4.1.311.10.3.3',
  '2.16.840.1.113730.4.1',
  '1.3.6.1.4.1.311.2.1.22',
  '1.3.6.1.4.1.311.61.1.1',
]

export const ANY_USAGE = '2.5.29.37.0'
export const SERVER_AUTH = '1.3.6.1.5.5.7.3.1'

const NAMES: readonly string[] = [
  'KeyUsageAny',
  'KeyUsageServerAuth',
  'KeyUsageClientAuth',
  'KeyUsageCodeSigning',
  'KeyUsageEmailProtection',
  'KeyUsageIPSECEndSystem',
  'KeyUsageIPSECTunnel',
  'KeyUsageIPSECUser',
  'KeyUsageTimeStamping',
  'KeyUsageOCSPSigning',
  'KeyUsageMicrosoftServerGatedCrypto',
  'KeyUsageNetscapeServerGatedCrypto',
  'KeyUsageMicrosoftCommercialCodeSigning',
  'KeyUsageMicrosoftKernelCodeSigning',
]

/** The object identifier of a usage by the name that OPA's options take (`KeyUsageServerAuth`). */
export function usageByName(name: string): string | undefined {
  const number = NAMES.indexOf(name)
  return number < 0 ? undefined : EXTENDED_KEY_USAGES[number]
}
