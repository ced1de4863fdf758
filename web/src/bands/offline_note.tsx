// Whether the page works without a network by now.
export function OfflineNote() {
  return null;
}
