import { LayoutMismatch } from './time-text.js'
import type { TimeText } from './time-text.js'

/** A period in which each offset of a zone has one name. */
interface Era {
  readonly untilSeconds: number
  readonly nameByOffset: ReadonlyMap<number, string>
}

/** Returns true if the IANA database has a zone of exactly this name. */
export function hasAbbreviations(zoneName: string): boolean {
  return erasByZone().has(zoneName)
}

/**
 * Returns the abbreviation of a zone at an instant (Unix seconds) with a given offset (seconds
 * east). Exact since 1970; before that, the oldest name for the offset, and `LMT` for local mean
 * time. Digits (`+0545`) if there is no name.
 */
export function abbreviationIn(zoneName: string, unixSeconds: number, offsetSeconds: number): string {
  const era = erasByZone()
    .get(zoneName)
    ?.find(({ untilSeconds }) => unixSeconds < untilSeconds)
  const name = era?.nameByOffset.get(offsetSeconds)
  if (name !== undefined) return name
  return offsetSeconds % 60 === 0 ? digitsOf(offsetSeconds) : 'LMT'
}

function digitsOf(offsetSeconds: number): string {
  const minutes = Math.abs(offsetSeconds) / 60
  const hour = String(Math.floor(minutes / 60)).padStart(2, '0')
  const minute = minutes % 60 === 0 ? '' : String(minutes % 60).padStart(2, '0')
  return `${offsetSeconds < 0 ? '-' : '+'}${hour}${minute}`
}

let cached: ReadonlyMap<string, readonly Era[]> | undefined

/** Parsed on the first use, since most policies name no zone. */
function erasByZone(): ReadonlyMap<string, readonly Era[]> {
  cached ??= readTable(ZONE_ABBREVIATION_TABLE)
  return cached
}

function readTable(table: string): ReadonlyMap<string, readonly Era[]> {
  const byZone = new Map<string, readonly Era[]>()
  for (const record of table.split(';')) {
    const [erasText = '', zonesText = ''] = record.split(':')
    const eras = erasText.split('|').map(readEra)
    for (const zone of words(zonesText)) byZone.set(zone, eras)
  }
  return byZone
}

function readEra(text: string): Era {
  const [names = '', until] = text.split('until')
  const nameByOffset = new Map<number, string>()
  const parts = words(names)
  for (let i = 0; i + 1 < parts.length; i += 2) nameByOffset.set(Number(parts[i]) * 60, parts[i + 1] ?? '')
  return { untilSeconds: until === undefined ? Infinity : Number(until), nameByOffset }
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}

/**
 * Every IANA zone name with its abbreviations since 1970, which neither Luxon nor ICU has. From
 * IANA tzdata 2025b. A record is `eras : zones ;`, an era is `offset name offset name ...` with
 * offsets in minutes east of Greenwich. Eras that end are followed by `until <Unix seconds> |`. A
 * zone or offset without a name is written in digits (`-03`).
 */
const ZONE_ABBREVIATION_TABLE = `
: Africa/Casablanca Africa/El_Aaiun America/Araguaina America/Argentina/Buenos_Aires America/Argentina/Catamarca
America/Argentina/ComodRivadavia America/Argentina/Cordoba America/Argentina/Jujuy America/Argentina/La_Rioja
America/Argentina/Mendoza America/Argentina/Rio_Gallegos America/Argentina/Salta America/Argentina/San_Juan
America/Argentina/San_Luis America/Argentina/Tucuman America/Argentina/Ushuaia America/Asuncion America/Bahia
America/Belem America/Boa_Vista America/Bogota America/Buenos_Aires America/Campo_Grande America/Caracas
America/Catamarca America/Cayenne America/Cordoba America/Coyhaique America/Cuiaba America/Eirunepe America/Fortaleza
America/Godthab America/Guayaquil America/Guyana America/Jujuy America/La_Paz America/Lima America/Maceio
America/Manaus America/Mendoza America/Montevideo America/Noronha America/Nuuk America/Paramaribo America/Porto_Acre
America/Porto_Velho America/Punta_Arenas America/Recife America/Rio_Branco America/Rosario America/Santarem
America/Santiago America/Sao_Paulo America/Scoresbysund Antarctica/Casey Antarctica/Davis Antarctica/DumontDUrville
Antarctica/Mawson Antarctica/Palmer Antarctica/Syowa Asia/Aden Asia/Almaty Asia/Anadyr Asia/Aqtau Asia/Aqtobe
Asia/Ashgabat Asia/Ashkhabad Asia/Atyrau Asia/Baghdad Asia/Bahrain Asia/Baku Asia/Bangkok Asia/Barnaul Asia/Bishkek
Asia/Brunei Asia/Chita Asia/Choibalsan Asia/Colombo Asia/Dacca Asia/Dhaka Asia/Dili Asia/Dubai Asia/Dushanbe
Asia/Ho_Chi_Minh Asia/Hovd Asia/Irkutsk Asia/Kabul Asia/Kamchatka Asia/Kashgar Asia/Kathmandu Asia/Katmandu
Asia/Khandyga Asia/Krasnoyarsk Asia/Kuala_Lumpur Asia/Kuching Asia/Kuwait Asia/Magadan Asia/Muscat Asia/Novokuznetsk
Asia/Novosibirsk Asia/Omsk Asia/Oral Asia/Phnom_Penh Asia/Qatar Asia/Qostanay Asia/Qyzylorda Asia/Rangoon Asia/Riyadh
Asia/Saigon Asia/Sakhalin Asia/Samarkand Asia/Singapore Asia/Srednekolymsk Asia/Tashkent Asia/Tbilisi Asia/Tehran
Asia/Thimbu Asia/Thimphu Asia/Tomsk Asia/Ulaanbaatar Asia/Ulan_Bator Asia/Urumqi Asia/Ust-Nera Asia/Vientiane
Asia/Vladivostok Asia/Yakutsk Asia/Yangon Asia/Yekaterinburg Asia/Yerevan Atlantic/Cape_Verde Atlantic/South_Georgia
Atlantic/Stanley Australia/Eucla Brazil/Acre Brazil/DeNoronha Brazil/East Brazil/West Chile/Continental
Chile/EasterIsland Etc/GMT+1 Etc/GMT+10 Etc/GMT+11 Etc/GMT+12 Etc/GMT+2 Etc/GMT+3 Etc/GMT+4 Etc/GMT+5 Etc/GMT+6
Etc/GMT+7 Etc/GMT+8 Etc/GMT+9 Etc/GMT-1 Etc/GMT-10 Etc/GMT-11 Etc/GMT-12 Etc/GMT-13 Etc/GMT-14 Etc/GMT-2 Etc/GMT-3
Etc/GMT-4 Etc/GMT-5 Etc/GMT-6 Etc/GMT-7 Etc/GMT-8 Etc/GMT-9 Europe/Astrakhan Europe/Samara Europe/Saratov
Europe/Ulyanovsk Indian/Chagos Indian/Christmas Indian/Cocos Indian/Kerguelen Indian/Mahe Indian/Maldives
Indian/Mauritius Indian/Reunion Iran Kwajalein NZ-CHAT Pacific/Apia Pacific/Bougainville Pacific/Chatham Pacific/Chuuk
Pacific/Easter Pacific/Efate Pacific/Enderbury Pacific/Fakaofo Pacific/Fiji Pacific/Funafuti Pacific/Galapagos
Pacific/Gambier Pacific/Guadalcanal Pacific/Kanton Pacific/Kiritimati Pacific/Kosrae Pacific/Kwajalein Pacific/Majuro
Pacific/Marquesas Pacific/Nauru Pacific/Niue Pacific/Norfolk Pacific/Noumea Pacific/Palau Pacific/Pitcairn
Pacific/Pohnpei Pacific/Ponape Pacific/Port_Moresby Pacific/Rarotonga Pacific/Tahiti Pacific/Tarawa Pacific/Tongatapu
Pacific/Truk Pacific/Wake Pacific/Wallis Pacific/Yap Singapore ;
60 CET 120 CEST : Africa/Tunis Arctic/Longyearbyen Atlantic/Jan_Mayen CET Europe/Amsterdam Europe/Andorra
Europe/Belgrade Europe/Berlin Europe/Bratislava Europe/Brussels Europe/Budapest Europe/Busingen Europe/Copenhagen
Europe/Gibraltar Europe/Ljubljana Europe/Luxembourg Europe/Madrid Europe/Malta Europe/Monaco Europe/Oslo Europe/Paris
Europe/Podgorica Europe/Prague Europe/Rome Europe/San_Marino Europe/Sarajevo Europe/Skopje Europe/Stockholm
Europe/Tirane Europe/Vaduz Europe/Vatican Europe/Vienna Europe/Warsaw Europe/Zagreb Europe/Zurich Poland ;
-44.5 MMT 0 GMT : Africa/Abidjan Africa/Accra Africa/Bamako Africa/Banjul Africa/Bissau Africa/Conakry Africa/Dakar
Africa/Freetown Africa/Lome Africa/Monrovia Africa/Nouakchott Africa/Ouagadougou Africa/Timbuktu America/Danmarkshavn
Atlantic/Reykjavik Atlantic/St_Helena Etc/GMT Etc/GMT+0 Etc/GMT-0 Etc/GMT0 Etc/Greenwich GMT GMT+0 GMT-0 GMT0
Greenwich Iceland ;
-300 EST -240 EDT : America/Atikokan America/Cayman America/Coral_Harbour America/Detroit America/Fort_Wayne
America/Indiana/Indianapolis America/Indiana/Vevay America/Indianapolis America/Jamaica America/Montreal
America/Nassau America/New_York America/Nipigon America/Panama America/Port-au-Prince America/Thunder_Bay
America/Toronto Canada/Eastern EST EST5EDT Jamaica US/East-Indiana US/Eastern US/Michigan ;
-300 EST -240 AST : America/Anguilla America/Antigua America/Aruba America/Blanc-Sablon America/Curacao
America/Dominica America/Grenada America/Guadeloupe America/Kralendijk America/Lower_Princes America/Marigot
America/Miquelon America/Montserrat America/Port_of_Spain America/Puerto_Rico America/Santo_Domingo
America/St_Barthelemy America/St_Kitts America/St_Lucia America/St_Thomas America/St_Vincent America/Tortola
America/Virgin ;
-360 CST -300 CDT : America/Belize America/Chicago America/Costa_Rica America/El_Salvador America/Guatemala
America/Matamoros America/Mexico_City America/Monterrey America/Rainy_River America/Regina America/Tegucigalpa
America/Winnipeg CST6CDT Canada/Central Canada/Saskatchewan Mexico/General US/Central ;
-420 MST -360 MDT : America/Boise America/Creston America/Denver America/Edmonton America/Hermosillo America/Mazatlan
America/Phoenix America/Shiprock America/Yellowknife Canada/Mountain MST MST7MDT Mexico/BajaSur Navajo US/Arizona
US/Mountain ;
600 AEST 660 AEDT : Antarctica/Macquarie Australia/ACT Australia/Brisbane Australia/Canberra Australia/Currie
Australia/Hobart Australia/Lindeman Australia/Melbourne Australia/NSW Australia/Queensland Australia/Sydney
Australia/Tasmania Australia/Victoria ;
180 EAT : Africa/Addis_Ababa Africa/Asmara Africa/Asmera Africa/Dar_es_Salaam Africa/Djibouti Africa/Kampala
Africa/Mogadishu Africa/Nairobi Indian/Antananarivo Indian/Comoro Indian/Mayotte ;
120 EET 180 EEST : Africa/Cairo Asia/Beirut Asia/Nicosia EET Egypt Europe/Athens Europe/Bucharest Europe/Helsinki
Europe/Mariehamn Europe/Nicosia Europe/Sofia ;
60 WAT 120 WAST : Africa/Bangui Africa/Brazzaville Africa/Douala Africa/Kinshasa Africa/Lagos Africa/Libreville
Africa/Luanda Africa/Malabo Africa/Ndjamena Africa/Niamey Africa/Porto-Novo ;
-480 PST -420 PDT : America/Ensenada America/Los_Angeles America/Santa_Isabel America/Tijuana America/Vancouver
Canada/Pacific Mexico/BajaNorte PST8PDT US/Pacific ;
-240 AST -180 ADT -120 ADDT : America/Barbados America/Glace_Bay America/Goose_Bay America/Halifax America/Martinique
America/Moncton America/Thule Atlantic/Bermuda Canada/Atlantic ;
480 CST 540 CDT : Asia/Chongqing Asia/Chungking Asia/Harbin Asia/Macao Asia/Macau Asia/Shanghai Asia/Taipei PRC ROC ;
120 CAT : Africa/Blantyre Africa/Bujumbura Africa/Gaborone Africa/Harare Africa/Kigali Africa/Lubumbashi Africa/Lusaka
Africa/Maputo ;
0 UTC : Etc/UCT Etc/UTC Etc/Universal Etc/Zulu UCT UTC Universal Zulu ;
0 GMT 60 BST : Europe/Belfast Europe/Guernsey Europe/Isle_of_Man Europe/Jersey Europe/London GB GB-Eire ;
570 ACST 630 ACDT : Australia/Adelaide Australia/Broken_Hill Australia/Darwin Australia/North Australia/South
Australia/Yancowinna ;
0 WET 60 WEST : Atlantic/Canary Atlantic/Faeroe Atlantic/Faroe Atlantic/Madeira WET ;
720 NZST 780 NZDT : Antarctica/McMurdo Antarctica/South_Pole NZ Pacific/Auckland ;
420 WIB 480 WITA : Asia/Jakarta Asia/Makassar Asia/Pontianak Asia/Ujung_Pandang ;
-600 HST : HST Pacific/Honolulu Pacific/Johnston US/Hawaii ;
-660 SST : Pacific/Midway Pacific/Pago_Pago Pacific/Samoa US/Samoa ;
120 SAST : Africa/Johannesburg Africa/Maseru Africa/Mbabane ;
120 IST 180 IDT : Asia/Jerusalem Asia/Tel_Aviv Israel ;
-300 CST -240 CDT : America/Havana Cuba ;
-210 NST -150 NDT -90 NDDT : America/St_Johns Canada/Newfoundland ;
0 -00 : Antarctica/Rothera Antarctica/Vostok ;
330 IST : Asia/Calcutta Asia/Kolkata ;
480 HKT 540 HKST : Asia/Hong_Kong Hongkong ;
540 KST 600 KDT : Asia/Seoul ROK ;
540 JST : Asia/Tokyo Japan ;
600 AEST : Australia/LHI Australia/Lord_Howe ;
480 AWST 540 AWDT : Australia/Perth Australia/West ;
0 GMT 60 IST : Eire Europe/Dublin ;
0 GMT 60 WAT : Africa/Sao_Tome ;
-420 MST -360 CST : America/Swift_Current ;
540 WIT : Asia/Jayapura ;
480 PST 540 PDT : Asia/Manila ;
510 KST 540 KST : Asia/Pyongyang ;
60 MET 120 MEST : MET ;
0 -00 until 1108166400 |  : Antarctica/Troll ;
120 EET 180 EEST until 1666908000 |  : Asia/Amman ;
120 EET 180 EEST until 1666904400 |  : Asia/Damascus ;
180 MSK 240 MSD until 646783200 | 120 EET 180 EEST : Europe/Kiev Europe/Kyiv Europe/Uzhgorod Europe/Zaporozhye ;
120 CAT 180 CAST until 947930400 | 120 CAT 180 EAT : Africa/Juba Africa/Khartoum ;
-480 PST -420 PDT until 1604214000 | -420 MST : America/Whitehorse Canada/Yukon ;
120 IST 180 IDT until 820447200 | 120 EET 180 EEST : Asia/Gaza Asia/Hebron ;
180 MSK 240 MSD until 641944800 | 120 EET 180 EEST : Europe/Chisinau Europe/Tiraspol ;
180 MSK 240 MSD until 606870000 | 120 EET 180 EEST : Europe/Riga Europe/Tallinn ;
600 GST 660 GDT until 977493600 | 600 ChST : Pacific/Guam Pacific/Saipan ;
0 WET 60 WEST until 448243200 | 60 CET 120 CEST : Africa/Ceuta ;
120 SAST until 637970400 | 60 WAT 120 CAT : Africa/Windhoek ;
-420 MST -360 MDT -300 CDT until 1288508400 | -360 CST -300 CDT : America/Bahia_Banderas ;
-540 YST -480 PST -420 PDT until 1604214000 | -420 MST : America/Dawson ;
-480 PST -420 PDT until 84013200 | -420 MST : America/Dawson_Creek ;
-480 PST -420 PDT until 1425808800 | -420 MST : America/Fort_Nelson ;
-300 EST -240 EDT until 1143961200 | -360 CST -300 CDT : America/Indiana/Tell_City ;
-480 PST -420 PDT -360 MDT until 309945600 | -420 MST -360 MDT : America/Inuvik ;
-360 CST -300 CDT until 972802800 | -300 EST -240 EDT : America/Kentucky/Monticello ;
-300 EST until 104914800 | -360 CST -300 CDT : America/Menominee ;
-360 CST -300 EST until 828864000 | -360 CST -300 CDT : America/Merida ;
-660 BST -600 BDT -540 YST until 439030800 | -540 AKST -480 AKDT : America/Nome ;
-420 MST -360 MDT until 1289116800 | -360 CST -300 CDT : America/North_Dakota/Beulah ;
-420 MST -360 MDT until 720000000 | -360 CST -300 CDT : America/North_Dakota/Center ;
-420 MST -360 MDT until 1067155200 | -360 CST -300 CDT : America/North_Dakota/New_Salem ;
-540 YST -480 PST -420 PDT until 439030800 | -540 AKST -480 AKDT : America/Sitka ;
-540 YST -480 YDT until 439030800 | -540 AKST -480 AKDT : America/Yakutat ;
until 38775600 | 300 PKT 360 PKST : Asia/Karachi ;
until 725421600 | 0 WET 60 WEST until 740278800 |  : Atlantic/Azores ;
180 MSK 240 MSD until 670374000 | 120 EET 180 EEST until 1301184000 |  : Europe/Minsk ;
-660 BST -600 BDT until 436363200 | -600 AHST until 439034400 | -600 HST -540 HDT : America/Adak America/Atka
US/Aleutian ;
-360 CST -300 CDT until 688546800 | -300 EST until 1143961200 | -360 CST -300 CDT : America/Indiana/Knox
America/Knox_IN US/Indiana-Starke ;
-300 EST -240 EDT until 126687600 | -300 CDT until 152089200 | -300 EST -240 EDT : America/Indiana/Marengo
America/Kentucky/Louisville America/Louisville ;
-600 AHST -540 AHDT until 436359600 | -540 YST until 439030800 | -540 AKST -480 AKDT : America/Anchorage US/Alaska ;
-360 CST -300 EST -240 EDT until 954662400 | -300 CDT until 972802800 | -300 EST -240 EDT : America/Iqaluit
America/Pangnirtung ;
-360 CST -300 CDT until 891766800 | -420 MST -360 MDT until 1667116800 | -360 CST : America/Chihuahua ;
-300 EST -240 EDT until 1425798000 | -240 AST until 1520751600 | -300 EST -240 EDT : America/Grand_Turk ;
-300 EST -240 EDT until 1143961200 | -360 CST -300 CDT until 1194159600 | -300 EST -240 EDT :
America/Indiana/Vincennes ;
-300 EST -240 EDT until 1143961200 | -360 CST -300 CDT -240 EDT until 1194156000 | -300 EST -240 EDT :
America/Indiana/Winamac ;
-360 CST -300 CDT until 891766800 | -420 MST -360 MDT until 1667116800 | -360 CST -300 CDT : America/Ojinaga ;
-360 CST -300 CDT until 972802800 | -300 EST until 986112000 | -360 CST -300 CDT : America/Rankin_Inlet ;
120 EET 180 EEST until 1473282000 | 120 EET until 1521939600 | 120 EET 180 EEST : Asia/Famagusta ;
180 MSK 240 MSD until 606870000 | 120 EET 180 EEST until 1301184000 | 120 EET : Europe/Kaliningrad ;
120 EET 180 EEST until 267915600 | 120 EET until 482799600 | 120 EET 180 EEST until 1473195600 |  : Asia/Istanbul
Europe/Istanbul Turkey ;
0 WET 60 CET until 228268800 | 0 WET 60 WEST until 717555600 | 60 CET 120 CEST until 828234000 | 0 WET 60 WEST :
Europe/Lisbon Portugal ;
180 MSK 240 MSD until 670374000 | 120 EET 180 EEST until 695779200 | 180 MSK 240 MSD until 1301180400 | 180 MSK 240
MSK : Europe/Moscow W-SU ;
0 WET 60 WEST until 246236400 | 0 WET 60 CET 120 CEST until 325468800 | 0 WET 60 WEST until 357523200 | 60 CET :
Africa/Algiers ;
-420 MST -360 MDT until 941356800 | -360 CST -300 CDT until 972802800 | -360 CST -300 EST until 986115600 | -420 MST
-360 MDT : America/Cambridge_Bay ;
-360 CST -300 CDT until 891766800 | -420 MST -360 MDT until 1667116800 | -420 MST -360 CST until 1678611600 | -420 MST
-360 MDT : America/Ciudad_Juarez ;
-360 CST -300 CDT until 247042800 | -300 EST until 1143961200 | -360 CST -300 CDT until 1194159600 | -300 EST -240 EDT
: America/Indiana/Petersburg ;
-480 PST -420 PDT until 325677600 | -480 YDT until 341402400 | -540 YST -480 PST -420 PDT until 439030800 | -540 AKST
-480 AKDT : America/Juneau ;
-360 CST -300 EST until 290584800 | -360 CST -300 CDT until 694260000 | -360 CST -300 EST until 1113112800 | -360 CST
-300 CDT : America/Managua ;
-540 AKST -480 PST -420 PDT until 1457866800 | -540 AKST -480 AKDT until 1541325600 | -540 AKST -480 PST until
1552215600 | -540 AKST -480 AKDT : America/Metlakatla ;
180 MSK 240 MSD until 606870000 | 120 EET 180 EEST until 891133200 | 60 CET 120 CEST until 941331600 | 120 EET 180
EEST : Europe/Vilnius ;
-360 CST -300 EST until 828864000 | -360 CST -300 CDT until 877849200 | -300 EST -240 EDT until 902037600 | -360 CST
-300 CDT until 1422777600 | -300 EST : America/Cancun ;
-360 CST -300 CDT until 972802800 | -300 EST until 986112000 | -360 CST -300 CDT until 1162105200 | -300 EST until
1173600000 | -360 CST -300 CDT : America/Resolute ;
until 606866400 | 180 MSK 240 MSD until 670374000 | until 701820000 | 180 MSK 240 MSD until 1301180400 | 180 MSK 240
MSK : Europe/Kirov ;
120 EET 180 MSK 240 MSD until 701827200 | 120 EET 180 EEST 240 MSD until 780447600 | 180 MSK 240 MSD until 859683600 |
120 EET 180 EEST 240 MSK until 1414274400 | 180 MSK : Europe/Simferopol ;
until 575416800 | 180 MSK 240 MSD until 670374000 | until 701820000 | 180 MSK 240 MSD until 1301180400 | 180 MSK 240
MSK until 1540681200 | 180 MSK : Europe/Volgograd ;
60 CET 120 EET until 386463600 | 60 CET 120 CEST until 641775600 | 60 CET 120 EET until 860108400 | 120 CEST until
875916000 | 60 CET 120 EET until 1364515200 | 120 CEST until 1382659200 | 120 EET : Africa/Tripoli Libya ;
`

/** The names that `MST` matches: three letters, four or five with T, and exceptions. */
const LETTERS = /^(?:ChST|MeST|[A-Z]{3,5}(?![A-Z]))/
const SIGNED_HOUR = /^[+-](\d+)/

/** Consumes a zone abbreviation: `CEST`, `GMT-8`, `+03`. Throws LayoutMismatch. */
export function readZoneAbbreviation(text: TimeText): string {
  const name = abbreviationAtStart(text.rest)
  if (name === undefined) throw new LayoutMismatch()
  return text.take(name.length)
}

function abbreviationAtStart(text: string): string | undefined {
  if (text.length < 3) return undefined
  if (text.startsWith('GMT')) return `GMT${signedHour(text.slice(3)) ?? ''}`
  if (text.startsWith('+') || text.startsWith('-')) return signedHour(text)
  const name = LETTERS.exec(text)?.[0]
  return name === undefined || name.length === 3 || name.endsWith('T') || name === 'WITA' ? name : undefined
}

function signedHour(text: string): string | undefined {
  const match = SIGNED_HOUR.exec(text)
  return match !== null && Number(match[1]) <= 23 ? match[0] : undefined
}
