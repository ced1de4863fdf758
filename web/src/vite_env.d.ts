declare module 'samples:*' {
  const url: string;
  export default url;
}
