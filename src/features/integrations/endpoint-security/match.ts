import type { Device, MachineNames } from './vendor.ts';

/** A peer, with the names that its machine reports. */
export interface Machine extends MachineNames {
  readonly peer: string;
}

/** The device that matches a machine, or the reason why none does. */
export type Match = { readonly device: Device } | { readonly reason: string };

/** Finds the devices of machines in pages of devices. Stores only the devices that it needs. */
export interface Matcher {
  add(devices: readonly Device[]): void;
  match(machine: Machine): Match;
}

/**
 * Devices with one name of a machine: their number, the first of them, and the most recent one that also has the
 * machine's hostname.
 */
interface MatchingDevices {
  readonly count: number;
  readonly device: Device;
  readonly sameHostname?: Device | undefined;
}

interface Candidate {
  readonly machine: Machine;
  bySerial?: MatchingDevices;
  byHostname?: MatchingDevices;
}

/**
 * Creates a matcher for machines. A device matches by its serial number, otherwise by its hostname if exactly one
 * device has that hostname.
 */
export function createMatcher(machines: readonly Machine[]): Matcher {
  const candidates = new Map(machines.map((machine) => [machine.peer, { machine } as Candidate]));
  const bySerial = Map.groupBy(candidates.values(), ({ machine }) => normalizeSerial(machine.serial));
  const byLabel = Map.groupBy(candidates.values(), ({ machine }) => labelOf(machine.hostname));
  const addOne = (device: Device): void => {
    const serial = normalizeSerial(device.serial);
    const label = labelOf(device.hostname);
    for (const candidate of serial === '' ? [] : (bySerial.get(serial) ?? []))
      candidate.bySerial = addMatchingDevice(candidate.bySerial, device, hasSameHostname(device, candidate.machine));
    for (const candidate of label === '' ? [] : (byLabel.get(label) ?? []))
      if (hasSameHostname(device, candidate.machine))
        candidate.byHostname = addMatchingDevice(candidate.byHostname, device, true);
  };
  return {
    add: (devices) => devices.forEach(addOne),
    match(machine) {
      const { bySerial: serials, byHostname: hostnames } = candidates.get(machine.peer) ?? {};
      if (serials !== undefined) return matchBySerial(machine, serials);
      if (hostnames === undefined) return { reason: `no device has ${namesText(machine)}` };
      if (hostnames.count === 1) return { device: hostnames.device };
      return {
        reason: `${hostnames.count} devices have the hostname \`${machine.hostname}\`, and none has the serial number of the peer`,
      };
    },
  };
}

/**
 * Returns the device with the machine's serial number. A machine that was reinstalled may be listed twice. Its hostname
 * then decides, and among devices with that hostname the most recent one.
 */
function matchBySerial({ serial, hostname }: Machine, { count, device, sameHostname }: MatchingDevices): Match {
  if (count === 1) return { device };
  if (sameHostname !== undefined) return { device: sameHostname };
  return {
    reason: `${count} devices have the serial number \`${serial}\`, and none of them has the hostname \`${hostname}\``,
  };
}

function addMatchingDevice(known: MatchingDevices | undefined, device: Device, isOwn: boolean): MatchingDevices {
  const own = isOwn && !isOlder(device, known?.sameHostname) ? device : known?.sameHostname;
  // A page that shifted while it was read may repeat a device of the page before.
  if (known?.device.id === device.id) return { ...known, sameHostname: own };
  return { count: (known?.count ?? 0) + 1, device: known?.device ?? device, sameHostname: own };
}

function isOlder(device: Device, other: Device | undefined): boolean {
  return other !== undefined && (device.seenAt ?? '') < (other.seenAt ?? '');
}

function namesText({ serial, hostname }: MachineNames): string {
  const names = [
    ...(normalizeSerial(serial) === '' ? [] : [`the serial number \`${serial}\``]),
    ...(labelOf(hostname) === '' ? [] : [`the hostname \`${hostname}\``]),
  ];
  return names.length === 0
    ? 'a matching name: the peer reports neither a serial number nor a hostname'
    : names.join(' or ');
}

/** Texts that manufacturers write when there is no serial number. Many machines share them. */
const placeholders: ReadonlySet<string> = new Set([
  ...['0', 'NONE', 'N/A', 'NA', 'NULL', 'UNKNOWN', 'DEFAULT STRING', 'NOT SPECIFIED', 'NOT APPLICABLE', 'INVALID'],
  ...['SYSTEM SERIAL NUMBER', 'TO BE FILLED BY O.E.M.', 'TO BE FILLED BY OEM', 'CHASSIS SERIAL NUMBER', 'EMPTY'],
]);

/** Returns a serial number in a form that can be compared, or an empty text when it does not identify a machine. */
function normalizeSerial(text: string): string {
  const serial = text.trim().toUpperCase();
  return placeholders.has(serial) || /^0+$/.test(serial) || /^(.)\1{4,}$/.test(serial) ? '' : serial;
}

/** Returns the first label of a hostname, in a form that can be compared. */
function labelOf(hostname: string): string {
  return normalizeHostname(hostname).split('.')[0] ?? '';
}

/**
 * Returns a hostname in a form that can be compared. Machines of one manufacturer append `.local`, which products leave
 * out.
 */
function normalizeHostname(hostname: string): string {
  return hostname
    .trim()
    .toLowerCase()
    .replace(/\.$/, '')
    .replace(/\.local$/, '');
}

/** Whether two hostnames mean the same machine: they are equal, or one of them is given without its domain. */
function hasSameHostname({ hostname }: MachineNames | Device, machine: MachineNames): boolean {
  const [one, other] = [normalizeHostname(hostname), normalizeHostname(machine.hostname)];
  if (one === '' || other === '') return false;
  return one === other || (labelOf(one) === labelOf(other) && (!one.includes('.') || !other.includes('.')));
}
